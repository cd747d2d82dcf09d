import { expect, test } from "vitest"
import { reachable } from "../lib/declarations.mjs"

test("what an entry imports is reachable in every form of an import, also from other folders and in a circle; nothing else is", () => {
  const files = {
    "index.d.ts": 'export { a } from "./a.ts"\nexport type * from "./deep/b.js"\nimport "./c.ts"\n',
    "a.d.ts": 'export declare const a: import("./deep/d.ts").D;\nimport type { Other } from "@other/package"\n',
    "c.d.ts": "",
    "deep/b.d.ts": 'import { a } from "../a.ts"\nimport type { I } from "../index.ts"\n',
    "deep/d.d.ts": "",
    "unused.d.ts": 'export { a } from "./a.ts"\n',
  }
  const expected = ["index.d.ts", "a.d.ts", "c.d.ts", "deep/b.d.ts", "deep/d.d.ts"]
  expect(new Set(reachable(["index.d.ts"], (name) => files[name]))).toEqual(new Set(expected))
})
