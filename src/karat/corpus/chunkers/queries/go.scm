(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @parent
  (pointer_type (type_identifier) @parent)
  (generic_type type: (type_identifier) @parent)
  (pointer_type (generic_type type: (type_identifier) @parent))])) name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(source_file (const_declaration (const_spec name: (_) @name) @constant))
