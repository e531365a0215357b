(module_definition name: (_) @name) @module
(struct_definition (type_head (identifier) @name)) @struct
(function_definition (signature (call_expression . (identifier) @name))) @function
(macro_definition (signature (call_expression . (identifier) @name))) @macro
(assignment . (call_expression . (identifier) @name)) @function
