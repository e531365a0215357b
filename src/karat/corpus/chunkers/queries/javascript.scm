(class_declaration name: (_) @name) @class
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name
  value: [(arrow_function) (function_expression)]) @function
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement
  (lexical_declaration "const" (variable_declarator name: (identifier) @name))) @constant)
