(class_declaration (type_identifier) @name) @class
(object_declaration (type_identifier) @name) @class
(function_declaration (simple_identifier) @name) @function
(type_alias (type_identifier) @name) @type
