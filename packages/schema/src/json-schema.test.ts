import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { jsonSchemas } from "./index.ts"

const folder = fileURLToPath(new URL("../json/", import.meta.url))
const schemas = Object.entries(jsonSchemas())

test("json/ has one file for each schema, and no other file", () => {
  expect(readdirSync(folder).sort()).toEqual(schemas.map(([name]) => name).sort())
})

test.each(schemas)(
  "json/%s is generated from its schema; `vitest run packages/schema -u` writes it",
  async (name, schema) => {
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(folder + name)
  },
)
