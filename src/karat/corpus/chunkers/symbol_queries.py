"""The tree-sitter queries that find definitions, by language.

``@name`` is the name, the other capture the whole definition and its kind; ``@parent`` is a name
of the enclosing type that is written elsewhere than around it (a receiver in Go), ``@body`` a body
that stands beside its head (in Dart).
"""

__all__ = ["QUERIES"]

_JAVASCRIPT = """
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
"""

_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @module
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name value: (arrow_function)) @method
"""
)

_C = """
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: (_) @name))) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name) @macro
"""

QUERIES = {
    "bash": "(function_definition name: (_) @name) @function",
    "c": _C,
    "cpp": _C
    + """
(function_definition declarator: (reference_declarator
  (function_declarator declarator: (_) @name))) @function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @method
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @trait
""",
    "csharp": """
(namespace_declaration name: (_) @name) @module
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @struct
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(property_declaration name: (_) @name) @property
(local_function_statement name: (_) @name) @function
""",
    "dart": """
(class_definition name: (_) @name) @class
(mixin_declaration (identifier) @name) @class
(extension_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
((function_signature name: (_) @name) @function . (function_body)? @body)
((method_signature (function_signature name: (_) @name)) @function . (function_body) @body)
""",
    "elixir": """
((call target: (identifier) @_word (arguments . (alias) @name)) @module
  (#any-of? @_word "defmodule" "defprotocol"))
((call target: (identifier) @_word
  (arguments . [(identifier) @name (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))])) @function
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard"))
""",
    "go": """
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
""",
    "haskell": """
(function name: (_) @name) @function
(class name: (_) @name) @class
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synomym name: (_) @name) @type
""",
    "java": """
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
""",
    "javascript": _JAVASCRIPT,
    "julia": """
(module_definition name: (_) @name) @module
(struct_definition (type_head (identifier) @name)) @struct
(function_definition (signature (call_expression . (identifier) @name))) @function
(macro_definition (signature (call_expression . (identifier) @name))) @macro
(assignment . (call_expression . (identifier) @name)) @function
""",
    "kotlin": """
(class_declaration (type_identifier) @name) @class
(object_declaration (type_identifier) @name) @class
(function_declaration (simple_identifier) @name) @function
(type_alias (type_identifier) @name) @type
""",
    "lua": """
(function_declaration name: (_) @name) @function
(assignment_statement (variable_list name: (_) @name)
  (expression_list value: (function_definition))) @function
""",
    "php": """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(const_element (name) @name) @constant
""",
    "proto": """
(message (message_name) @name) @struct
(enum (enum_name) @name) @enum
(service (service_name) @name) @interface
(rpc (rpc_name) @name) @method
""",
    "python": """
(decorated_definition definition: (class_definition name: (_) @name)) @class
(decorated_definition definition: (function_definition name: (_) @name)) @function
(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
(module (assignment left: (identifier) @name) @constant)
""",
    "ruby": """
(class name: (_) @name) @class
(module name: (_) @name) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @constant
""",
    "rust": """
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
""",
    "scala": """
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type
""",
    "swift": """
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @interface
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @function
(typealias_declaration name: (_) @name) @type
""",
    "tsx": _TYPESCRIPT,
    "typescript": _TYPESCRIPT,
    "zig": """
(Decl (FnProto function: (_) @name)) @function
(source_file (Decl (VarDecl variable_type_function: (_) @name)) @constant)
""",
}
