import type { SessionTree, TreeNode } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { shorten, treeRows } from "./tree-rows.ts"

function node(id: string, children: readonly TreeNode[] = [], more: Partial<TreeNode> = {}): TreeNode {
  return {
    entry: { type: "acme:entry", id, parentId: null, seq: 0, timestamp: "" },
    seq: 0,
    children,
    ...more,
  }
}

function treeOf(roots: readonly TreeNode[], path: readonly string[]): SessionTree {
  return { roots, path, leafId: path.at(-1) ?? null, diagnostics: [] }
}

function shown(tree: SessionTree): string[] {
  return treeRows(tree).map((row) => `${"-".repeat(row.depth)}${row.node.entry.id}${row.onPath ? "*" : ""}`)
}

test("the path stays in the first column, other branches are indented before its next entry", () => {
  const tree = treeOf([node("a", [node("b", [node("c")]), node("d", [node("e")]), node("f")])], ["a", "d", "e"])
  expect(shown(tree)).toEqual(["a*", "-b", "-c", "-f", "d*", "e*"])
})

test("off the path the newest child continues the column", () => {
  const tree = treeOf([node("x", [node("y"), node("z")]), node("a")], ["a"])
  expect(shown(tree)).toEqual(["-x", "--y", "-z", "a*"])
})

test("a conversation of 100,000 entries does not overflow the stack", () => {
  let root = node("0")
  for (let i = 1; i < 100_000; i++) root = node(String(i), [root])
  expect(treeRows(treeOf([root], [])).length).toBe(100_000)
})

test("if two entries have the same id, only the one on the path is marked", () => {
  expect(shown(treeOf([node("a", [node("b", [node("a")]), node("c")])], ["a", "c"]))).toEqual(["a*", "-b", "-a", "c*"])
})

test("the middle of a long run becomes its length; branches, labels and compactions stay", () => {
  const chain = (count: number, end: TreeNode): TreeNode => {
    let last = end
    for (let i = count; i > 0; i--) last = node(`n${i}`, [last])
    return last
  }
  const tree = treeOf([chain(10, node("named", [chain(3, node("end"))], { label: "here" }))], [])
  const rows = shorten(treeRows(tree)).map((row) => (typeof row === "number" ? row : row.node.entry.id))
  expect(rows).toEqual(["n1", "n2", 6, "n9", "n10", "named", "n1", "n2", "n3", "end"])
})
