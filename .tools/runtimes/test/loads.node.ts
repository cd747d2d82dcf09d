import assert from "node:assert/strict"
import { test } from "node:test"
import { builtEntries } from "../loads.ts"

for (const { name, load } of builtEntries()) {
  void test(`${name} can be imported and exports something`, async () => {
    assert.notEqual(Object.keys(await load()).length, 0)
  })
}
