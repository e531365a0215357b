(class_definition name: (_) @name) @class
(mixin_declaration (identifier) @name) @class
(extension_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
((function_signature name: (_) @name) @function . (function_body)? @body)
((method_signature (function_signature name: (_) @name)) @function . (function_body) @body)
