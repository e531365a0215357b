"""A small text in each language that has a grammar, and the definitions that it holds."""

# ruff: noqa: E501 - a sample reads best as the lines that it has

SAMPLES: dict[str, tuple[str, list[str]]] = {
    "bash": ("greet() {\n  echo hi\n}\nfunction leave { exit; }\n", ["function greet", "function leave"]),
    "c": (
        "#define LIMIT 3\n#define SQUARE(x) ((x)*(x))\nstruct point { int x; };\nenum hue { RED };\n"
        "typedef struct point point_t;\nstatic int *find(int a) {\n  return 0;\n}\nint main(void) { }\n",
        ["constant LIMIT", "macro SQUARE", "struct point", "enum hue", "type point_t", "function find",
         "function main"],
    ),
    "cpp": (
        "namespace geo {\nclass Shape {\n public:\n  double area() const;\n  int id() { return 1; }\n};\n}\n"
        "double geo::Shape::area() const { return 0; }\ntemplate <class T> T twice(T a) { return a; }\n"
        "using Id = int;\n",
        ["module geo", "class geo.Shape", "method geo.Shape.area", "method geo.Shape.id",
         "function geo.Shape.area", "function twice", "type Id"],
    ),
    "csharp": (
        "namespace A.B {\n  public class Store : IStore {\n    public int Count { get; }\n"
        "    public Store() {}\n    public void Save(int x) { }\n  }\n  interface IStore { }\n"
        "  enum Mode { On }\n  record Point(int X);\n  struct S { }\n}\n",
        ["module A.B", "class A.B.Store", "property A.B.Store.Count", "method A.B.Store.Store",
         "method A.B.Store.Save", "interface A.B.IStore", "enum A.B.Mode", "class A.B.Point",
         "struct A.B.S"],
    ),
    "dart": (
        "class Cart {\n  int total(int x) {\n    return x;\n  }\n}\nvoid main() {\n  print(1);\n}\n"
        "enum Mode { on }\n",
        ["class Cart", "method Cart.total", "function main", "enum Mode"],
    ),
    "elixir": (
        "defmodule Shop.Cart do\n  def total(x) when x > 1, do: 1\n  defp tax, do: 2\nend\n",
        ["module Shop.Cart", "function Shop.Cart.total", "function Shop.Cart.tax"],
    ),
    "go": (
        "package a\nconst Limit = 3\ntype Store struct{ n int }\ntype Reader interface{ Read() }\n"
        "type ID string\nfunc New() *Store { return nil }\nfunc (s *Store) Save(x int) {}\n"
        "func (s Set[T]) Len() int { return 0 }\n",
        ["constant Limit", "struct Store", "interface Reader", "type ID", "function New",
         "method Store.Save", "method Set.Len"],
    ),
    "haskell": (
        "module A where\ndata Tree = Leaf\nnewtype Id = Id Int\ntype Name = String\n"
        "class Shape a where\n  area :: a -> Int\nsize x = 1\n",
        ["type Tree", "type Id", "type Name", "class Shape", "function size"],
    ),
    "java": (
        "package a;\npublic class Store<T> extends Base {\n  public Store() {}\n  @Override\n"
        "  public int save(int x) { return x; }\n  enum Mode { ON }\n}\ninterface Shape { int area(); }\n"
        "record Point(int x) {}\n",
        ["class Store", "method Store.Store", "method Store.save", "enum Store.Mode",
         "interface Shape", "method Shape.area", "class Point"],
    ),
    "javascript": (
        "export const LIMIT = 3;\nfunction one() {}\nconst two = (x) => x;\nclass Cart {\n"
        "  total() { return 1; }\n}\napp.get = function (x) {};\nconst o = { run: () => 1 };\n",
        ["constant LIMIT", "function one", "function two", "class Cart", "method Cart.total",
         "function get", "constant o", "function o.run"],
    ),
    "julia": (
        "module Shop\nstruct Cart\n  n\nend\nfunction total(x)\n  1\nend\ntax(x) = 2\n"
        "macro say(x)\nend\nend\n",
        ["module Shop", "struct Shop.Cart", "function Shop.total", "function Shop.tax",
         "macro Shop.say"],
    ),
    "kotlin": (
        "package a\nclass Store(val n: Int) {\n  fun save(x: Int): Int = x\n}\nobject Main {\n"
        "  fun run() {}\n}\ninterface Shape\nfun top() {}\ntypealias Id = Int\n",
        ["class Store", "method Store.save", "class Main", "method Main.run", "class Shape",
         "function top", "type Id"],
    ),
    "lua": (
        "local M = {}\nfunction M.total(x) return 1 end\nfunction M:add(x) end\n"
        "local function tax() end\nM.run = function() end\n",
        ["function M.total", "function M.add", "function tax", "function M.run"],
    ),
    "php": (
        "<?php\nnamespace A;\nconst LIMIT = 3;\nfunction one() {}\nclass Store extends Base {\n"
        "  const MODE = 1;\n  public function save($x) { return $x; }\n}\ninterface Shape {}\n"
        "trait Loud {}\nenum Hue { case Red; }\n",
        ["constant LIMIT", "function one", "class Store", "constant Store.MODE", "method Store.save",
         "interface Shape", "trait Loud", "enum Hue"],
    ),
    "proto": (
        'syntax = "proto3";\nmessage Cart {\n  int32 n = 1;\n  message Item {}\n}\nenum Mode { ON = 0; }\n'
        "service Shop {\n  rpc Buy(Cart) returns (Cart);\n}\n",
        ["struct Cart", "struct Cart.Item", "enum Mode", "interface Shop", "method Shop.Buy"],
    ),
    "python": (
        "LIMIT = 3\n\n@cache\ndef one():\n    def inner():\n        pass\n\nclass Cart(Base):\n"
        "    RATE = 1\n\n    @property\n    async def total(self):\n        return 1\n",
        ["constant LIMIT", "function one", "function one.inner", "class Cart", "method Cart.total"],
    ),
    "ruby": (
        "module Shop\n  LIMIT = 3\n  class Cart < Base\n    def total(x)\n      1\n    end\n"
        "    def self.build; end\n  end\nend\n",
        ["module Shop", "constant Shop.LIMIT", "class Shop.Cart", "method Shop.Cart.total",
         "method Shop.Cart.build"],
    ),
    "rust": (
        "pub const LIMIT: u8 = 3;\npub struct Cart<T> { n: T }\nenum Mode { On }\n"
        "trait Shape { fn area(&self) -> u8; }\nimpl<T> Cart<T> {\n    pub fn total(&self) -> u8 { 1 }\n}\n"
        "impl Shape for Mode {\n    fn area(&self) -> u8 { 2 }\n}\nmod inner {\n    fn deep() {}\n}\n"
        "macro_rules! say { () => {} }\ntype Id = u8;\nstatic NAME: u8 = 1;\nfn main() {}\n",
        ["constant LIMIT", "struct Cart", "enum Mode", "trait Shape", "method Shape.area", "impl Cart",
         "method Cart.total", "impl Mode", "method Mode.area", "module inner", "function inner.deep",
         "macro say", "type Id", "constant NAME", "function main"],
    ),
    "scala": (
        "package a\nclass Store(n: Int) {\n  def save(x: Int): Int = x\n}\nobject Main {\n"
        "  def run(): Unit = {}\n}\ntrait Shape { def area: Int }\n",
        ["class Store", "method Store.save", "class Main", "method Main.run", "trait Shape",
         "method Shape.area"],
    ),
    "swift": (
        "struct Cart {\n  func total(x: Int) -> Int {\n    return 1\n  }\n}\nclass Shop: Base {\n}\n"
        "protocol Shape {\n  func area() -> Int\n}\nenum Mode {\n  case on\n}\nfunc top() {\n}\n",
        ["class Cart", "method Cart.total", "class Shop", "interface Shape", "method Shape.area",
         "class Mode", "function top"],
    ),
    "tsx": (
        "interface Props { n: number }\nexport const View = (p: Props) => <b>{p.n}</b>;\n"
        "export function App() { return <View n={1} />; }\n",
        ["interface Props", "function View", "function App"],
    ),
    "typescript": (
        "export interface Shape { area(): number }\ntype Id = string;\nenum Mode { On }\n"
        "export abstract class Cart<T> {\n  abstract tax(): number;\n  total(x: T): number { return 1; }\n"
        "  run = () => 1;\n}\nnamespace Shop {\n  export function buy() {}\n}\n",
        ["interface Shape", "method Shape.area", "type Id", "enum Mode", "class Cart",
         "method Cart.tax", "method Cart.total", "method Cart.run", "module Shop",
         "function Shop.buy"],
    ),
    "zig": (
        "const Cart = struct {\n  n: u8,\n  pub fn total(self: Cart) u8 {\n    return 1;\n  }\n};\n"
        "pub fn main() void {}\n",
        ["constant Cart", "function Cart.total", "function main"],
    ),
}  # fmt: skip
