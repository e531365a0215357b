((call target: (identifier) @_word (arguments . (alias) @name)) @module
  (#any-of? @_word "defmodule" "defprotocol"))
((call target: (identifier) @_word
  (arguments . [(identifier) @name (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))])) @function
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard"))
