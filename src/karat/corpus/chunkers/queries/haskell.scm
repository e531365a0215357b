(function name: (_) @name) @function
(class name: (_) @name) @class
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synomym name: (_) @name) @type
