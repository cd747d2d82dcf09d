import { expect, test } from "vitest"
import { againstLayers, circlesOf, relativeImports } from "../lib/import-graph.mjs"

const graph = (...edges) =>
  edges.map((edge) => {
    const [from, arrow, to] = edge.split(" ")
    return { from, to, kind: { "->": "value", "~>": "dynamic", "=>": "type" }[arrow] }
  })

test("value, type, re-exported and dynamic imports are found, bare ones, comments and strings are not", () => {
  const text = `
    import { a } from "./a.ts"
    import type { B } from "../b.ts"
    export * from "./c.ts"
    export type { D } from "./d.ts"
    const e = () => import("./e.ts")
    type F = import("./f.ts").F
    import "./g.ts"
    import { readFile } from "node:fs"
    // import "./not.ts"
    const not = 'import "./not.ts"'`
  expect(relativeImports(text)).toEqual([
    { specifier: "./a.ts", kind: "value" },
    { specifier: "../b.ts", kind: "type" },
    { specifier: "./c.ts", kind: "value" },
    { specifier: "./d.ts", kind: "type" },
    { specifier: "./e.ts", kind: "dynamic" },
    { specifier: "./f.ts", kind: "type" },
    { specifier: "./g.ts", kind: "value" },
  ])
})

test("files that import each other are one circle, shown by a shortest way round", () => {
  const imports = graph("a -> b", "b -> c", "c ~> a", "b -> a", "x -> a", "c -> y", "y -> z", "z -> z")
  expect(circlesOf(imports)).toEqual([
    { files: expect.toSatisfy((files) => files.toSorted().join() === "a,b,c"), path: ["a", "b", "a"] },
    { files: ["z"], path: ["z", "z"] },
  ])
  expect(circlesOf(graph("a -> b", "a -> c", "b -> d", "c -> d"))).toEqual([])
})

const layers = [["base", "other.ts"], ["middle"], ["middle/top"], ["index.ts"]]

test("imports within a folder and from lower layers are allowed", () => {
  const imports = graph("middle/a.ts -> base/b.ts", "middle/a.ts -> middle/sub/c.ts", "middle/top/d.ts -> middle/a.ts")
  expect(againstLayers([...imports, ...graph("index.ts -> middle/top/d.ts")], { layers })).toEqual([])
})

test("imports from an upper layer, or from another folder of the same layer, are violations", () => {
  const imports = graph("base/a.ts -> middle/b.ts", "base/a.ts -> other.ts", "middle/b.ts -> middle/top/c.ts")
  expect(againstLayers(imports, { layers })).toEqual([
    "base/a.ts imports middle/b.ts: base is not above middle",
    "base/a.ts imports other.ts: base is not above other.ts",
    "middle/b.ts imports middle/top/c.ts: middle is not above middle/top",
  ])
})

test("tests may import everything, and every other file needs a layer", () => {
  expect(againstLayers(graph("base/a.test.ts -> index.ts", "base/a.ts -> new/b.ts"), { layers })).toEqual([
    "new/b.ts is in no layer",
  ])
})
