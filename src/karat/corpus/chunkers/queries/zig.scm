(Decl (FnProto function: (_) @name)) @function
(source_file (Decl (VarDecl variable_type_function: (_) @name)) @constant)
