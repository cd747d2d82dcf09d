/** The template is a correct storage, and the guide shows it as it is. */
import { readFileSync } from "node:fs"
import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { expect, test } from "vitest"
import { createMyStoreStorage } from "../template/src/storage.ts"
import { openStore } from "../template/src/store.ts"
import subject from "../template/test/subject.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

register(test, subject)
registerProperties(test, subject, { runs: 20 })

test("a defect is reported as one: it may have come after a write, and nobody is told to look at the store", async () => {
  const storage = createMyStoreStorage(new Map(), async (location) => {
    const store = await openStore(location)
    const fail = (): never => {
      throw new TypeError("x is not a function")
    }
    return { ...store, get: fail, commit: fail }
  })
  const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch(({ code, message }) => ({ code, message }))
  const message = expect.stringMatching(/TypeError: x is not a function.*This is a defect of my-store/)
  expect(await outcome(storage.append("a", ["{}"], { expect: 0 }))).toEqual({ code: "indeterminate", message })
  expect(await outcome(storage.head("a"))).toEqual({ code: "unavailable", message })
})

test("the guide shows the store, the storage and the subject of the template", () => {
  const shown = Array.from(
    read("../../../docs/writing-an-adapter.md").matchAll(/```ts\n(.*?)```/gs),
    ([, code]) => code,
  )
  for (const file of ["src/store.ts", "src/storage.ts", "test/subject.ts", "test/conformance.node.ts"])
    expect(shown).toContain(read(`../template/${file}`))
})

test("the template asks for the tools with which this repository tests it", () => {
  const { devDependencies } = JSON.parse(read("../template/_package.json")) as Manifest
  const { devDependencies: tools } = JSON.parse(read("../../../package.json")) as Manifest
  expect(devDependencies).toMatchObject({
    "@types/node": tools["@types/node"],
    "fast-check": tools["fast-check"],
    typescript: tools["typescript7"]?.replace("npm:typescript@", ""),
  })
})

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>
}
