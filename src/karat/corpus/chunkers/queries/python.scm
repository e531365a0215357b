(decorated_definition definition: (class_definition name: (_) @name)) @class
(decorated_definition definition: (function_definition name: (_) @name)) @function
(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
(module (assignment left: (identifier) @name) @constant)
