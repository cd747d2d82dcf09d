import assert from "node:assert/strict"
import { test } from "bun:test"
import { builtEntries } from "../loads.ts"

for (const { name, load } of builtEntries()) {
  test(`${name} can be imported and exports something`, async () => {
    assert.notEqual(Object.keys(await load()).length, 0)
  })
}
