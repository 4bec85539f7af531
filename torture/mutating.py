"""Code with one small mistake in it: every mutant of a module, as its text before and after.

A mutant differs from the module in one place: a comparison or an operator that is its neighbour, a number one off, a
condition turned round, a word gone, a statement gone, a value not returned. What says nothing at run time (docstrings,
annotations, `__all__`, imports for types) and what decorators are told is left alone.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Mutant", "mutants"]

_NEIGHBOURS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.USub: (ast.UAdd,),
}
_NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "zeros": "ones",
    "ones": "zeros",
}
_WORDS = {"left": "right", "right": "left"}
_SILENT = ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords")


class Mutant(NamedTuple):
    """A module with a mistake.

    Attributes
    ----------
    place : the function or class that it is in, or an empty string
    was, becomes : the lines that differ, as Python writes its own syntax trees
    text : the whole module
    in_function : whether it is in a function, so that nothing else differs once the module is imported
    """

    place: str
    was: str
    becomes: str
    text: str
    in_function: bool


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of the text of a module, in the order of its lines.

    Examples
    --------
    >>> for mutant in mutants("def f(a): return a < 1"):
    ...     print(mutant.becomes)
    return None
    return a <= 1
    return a >= 1
    return a < 2
    return a < 0
    """
    tree = ast.parse(source)
    before = ast.unparse(tree)
    for where, put, new in _edits(tree, _Where("", in_function=False)):
        undo = put(new)
        after = ast.unparse(tree)
        undo()
        if after != before:
            yield Mutant(where.place, *_difference(before, after), after, where.in_function)


class _Where(NamedTuple):
    """Where a node is."""

    place: str
    in_function: bool

    def within(self, node: ast.AST) -> _Where:
        """Where those below a node are."""
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return self
        return _Where(
            ".".join(filter(None, (self.place, node.name))), self.in_function or isinstance(node, ast.FunctionDef)
        )


def _edits(node: ast.AST, where: _Where) -> Iterator[tuple[_Where, Callable[[ast.AST], Callable[[], None]], ast.AST]]:
    """Every edit below a node: where, what puts a new node there and gives back what undoes it, and the new node."""
    for field, value in ast.iter_fields(node):
        if field in _SILENT and not (field == "keywords" and isinstance(node, ast.Call)):
            continue
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _says_nothing(child):
                continue
            put = _putting(node, field, i if isinstance(value, list) else None)
            for new in _alternatives(child):
                yield where, put, new
            yield from _edits(child, where.within(child))


def _putting(node: ast.AST, field: str, i: int | None) -> Callable[[ast.AST], Callable[[], None]]:
    def put(new: ast.AST) -> Callable[[], None]:
        if i is None:
            old = getattr(node, field)
            setattr(node, field, new)
            return lambda: setattr(node, field, old)
        held = getattr(node, field)
        old, held[i] = held[i], new
        return lambda: held.__setitem__(i, old)

    return put


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings, `__all__`, and what only a type checker sees."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "Against")]):
            return True
        case ast.AnnAssign(value=None):
            return True
    return False


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """What a node could have been by mistake."""
    for neighbour in _NEIGHBOURS.get(type(node), ()):
        yield neighbour()
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=float(value)):
            yield from (ast.Constant(2 * value + 1), ast.Constant(value / 2))
        case ast.Constant(value=str(value)) if value:
            yield ast.Constant(_WORDS.get(value, ""))
        case ast.Name(id=name) if name in _NAMES:
            yield ast.Name(_NAMES[name], ast.Load())
        case ast.Attribute(value=owner, attr=name) if name in _NAMES:
            yield ast.Attribute(owner, _NAMES[name], ast.Load())
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(value=value) if value is not None:
            yield ast.Return(ast.Constant(None))
        case ast.Call(func=func, args=args, keywords=keywords) if keywords:
            for i in range(len(keywords)):
                yield ast.Call(func, args, keywords[:i] + keywords[i + 1 :])
        case ast.AugAssign() | ast.Raise() | ast.Expr() | ast.Assign(targets=[ast.Subscript()]):
            yield ast.Pass()


def _difference(before: str, after: str) -> tuple[str, str]:
    """The lines that differ, which are together: a mutant is one change."""
    old, new = before.splitlines(), after.splitlines()
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    was, becomes = (" ".join(line.strip() for line in lines[head : len(lines) - tail]) for lines in (old, new))
    return was, becomes
