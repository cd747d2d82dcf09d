import { readFileSync } from "node:fs"
import { register, type Subject } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { expect, test } from "vitest"
import { createMyStorage } from "./adapter.ts"
import type { Disk } from "./store.ts"

const subject: Subject<Disk> = {
  name: "the guide's adapter",
  makeLocation: () => new Map(),
  open: createMyStorage,
}

register(test, subject)
registerProperties(test, subject, { runs: 20 })

test("the guide shows the adapter that this test runs the suite against", () => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")
  const guide = read("../../../docs/writing-an-adapter.md")
  const shown = Array.from(guide.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code)
  expect(shown).toContain(read("adapter.ts"))
})
