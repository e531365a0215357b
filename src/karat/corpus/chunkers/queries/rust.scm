(mod_item name: (_) @name body: (_)) @module
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @union
(enum_item name: (_) @name) @enum
(trait_item name: (_) @name) @trait
(impl_item type: (type_identifier) @name) @impl
(impl_item type: (generic_type type: (_) @name)) @impl
(impl_item type: (scoped_type_identifier name: (_) @name)) @impl
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(macro_definition name: (_) @name) @macro
