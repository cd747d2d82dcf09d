import { describe, expect, test } from "vitest"
import { growthOf, MOST_GROWTH, times } from "../../test/growth-of.ts"
import { assistant, chain, user } from "../../test/chain.ts"
import { buildSessionContext } from "../context/build.ts"
import { EntryLog } from "./entry-log.ts"
import { buildTree, type TreeNode } from "./nodes.ts"
import { defaultLeaf, OLDER, parentOf, ROOT } from "./path.ts"
import { parentDiagnostic, pathTo } from "./walk.ts"

const MANY = 8_000

describe("a parent", () => {
  const log = EntryLog.of(
    chain(user("a", { id: "x" }), user("b", { id: "x" }), user("c"), user("d", { parentId: null })),
  )

  test("is the nearest entry before with the id, or is missing", () => {
    expect([1, 2, 3, 4].map((seq) => parentOf(log, seq))).toEqual([ROOT, 1, 2, ROOT])
  })

  test("that is not in memory may be further back, until the log is complete", () => {
    const lines = chain(user("a"), undefined, user("c", { parentId: "lost" }))
    expect(parentOf(EntryLog.of(lines.slice(1), 1), 3)).toBe(OLDER)
    expect(parentOf(EntryLog.of(lines), 3)).toBe(1)
    expect(parentDiagnostic(EntryLog.of(lines.slice(1), 1), 3)).toBeUndefined()
    expect(parentDiagnostic(EntryLog.of(lines), 3)).toMatchObject({ code: "missing_parent", seq: 3 })
  })

  test("of the first entry is the root, whatever id it names", () => {
    expect(parentOf(EntryLog.of(chain(user("a", { parentId: "lost" }))), 1)).toBe(ROOT)
  })
})

test("a path goes from the root to the leaf, or from the oldest entry in memory", () => {
  const log = EntryLog.of(chain(user("a"), user("b"), user("c", { parentId: "e1" }), user("d")))
  expect(pathTo(log, 4)).toEqual({ seqs: [1, 3, 4], reachesRoot: true })
  expect(pathTo(EntryLog.of(chain(user("a"), user("b")).slice(2), 2), 2)).toEqual({ seqs: [2], reachesRoot: false })
})

test("the leaf of a log is its last entry; a log without entries has no leaf, and an empty window an unknown one", () => {
  expect(defaultLeaf(EntryLog.of(chain(user("a"), undefined)))).toBe(1)
  expect(defaultLeaf(EntryLog.of(chain()))).toBeNull()
  expect(defaultLeaf(EntryLog.of([undefined], 7))).toBeUndefined()
})

describe("for any damage to the parents, a walk ends", () => {
  const texts = (log: EntryLog): number => buildSessionContext(log).messages.length

  test("at a cycle of two, a cycle of all, and an entry that is its own parent", () => {
    expect(texts(EntryLog.of(chain(user("a", { parentId: "e2" }), user("b", { parentId: "e1" }))))).toBe(2)
    expect(texts(EntryLog.of(chain(user("a", { parentId: "e3" }), user("b"), user("c"))))).toBe(3)
    expect(texts(EntryLog.of(chain(user("a", { parentId: "e1" }))))).toBe(1)
  })

  test("in linear time, without recursion", async () => {
    const deep = (count: number): EntryLog =>
      EntryLog.of(chain(...times(count, (n) => (n % 2 === 0 ? user("q") : assistant("a")))))
    const walk = (log: EntryLog): void => {
      expect(texts(log)).toBe(log.end - 1)
      expect(depthOf(buildTree(log))).toBe(log.end - 1)
    }
    expect(await growthOf(MANY, deep, walk)).toBeLessThan(MOST_GROWTH)
    const later = (count: number): EntryLog =>
      EntryLog.of(chain(...times(count, (n) => user("q", { parentId: `e${count - n}` }))))
    expect(await growthOf(MANY, later, (log) => expect(texts(log)).toBeGreaterThan(0))).toBeLessThan(MOST_GROWTH)
  })
})

describe("the tree", () => {
  test("has each entry once, under its parent, in log order", () => {
    const log = EntryLog.of(
      chain(user("a"), user("b"), user("c", { parentId: "e1" }), user("d", { parentId: null }), undefined),
    )
    expect(inShort(buildTree(log))).toEqual([
      [
        "e1",
        [
          ["e2", []],
          ["e3", []],
        ],
      ],
      ["e4", []],
    ])
  })

  test("bridges damage like the path does", () => {
    const log = EntryLog.of(chain(user("a"), undefined, user("b", { parentId: "lost" }), user("c", { id: "e1" })))
    expect(inShort(buildTree(log))).toEqual([["e1", [["e3", [["e1", []]]]]]])
  })

  test("shows deleted entries, and the last label in log order", () => {
    const log = EntryLog.of(
      chain(
        user("a"),
        { type: "label", targetId: "e1", label: "one" },
        { type: "label", targetId: "e1", label: "two", parentId: null },
        { type: "tombstone", targetId: "e1" },
        { type: "label", targetId: "e3", label: "gone" },
        { type: "label", targetId: "e3" },
      ),
    )
    const [root] = buildTree(log)
    expect(root).toMatchObject({ label: "two", deleted: true })
    expect(buildTree(log)[1]).not.toHaveProperty("label")
  })

  test("has entries as own properties, each a copy that stays the caller's", () => {
    const log = EntryLog.of(chain(user("a"), user("b")))
    const [root] = buildTree(log) as [TreeNode]
    expect(Object.keys(root)).toEqual(["seq", "children", "entry"])
    expect({ ...root }.entry).toBe(root.entry)
    expect(structuredClone(root).entry).toEqual(log.at(1))
    expect(JSON.parse(JSON.stringify(root))).toMatchObject({ entry: log.at(1), children: [{ entry: log.at(2) }] })
    Object.assign(root.entry, { note: "mine" })
    expect(root.entry).toMatchObject({ note: "mine" })
    expect(log.at(1)).not.toHaveProperty("note")
    Object.assign(root, { entry: log.at(2) })
    expect(root.entry).toBe(log.at(2))
  })
})

type Short = [id: string, children: Short[]]

function inShort(nodes: readonly TreeNode[]): Short[] {
  return nodes.map(({ entry, children }) => [entry.id, inShort(children)])
}

function depthOf(roots: readonly TreeNode[]): number {
  let depth = 0
  for (let level = roots; level.length > 0; level = level.flatMap(({ children }) => children)) depth++
  return depth
}
