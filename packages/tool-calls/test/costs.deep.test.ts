import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage } from "@sessions/postgres"
import { expect, test } from "vitest"
import { costsOn, documentedCosts } from "./costs.ts"

test("the statements that calls take in PostgreSQL are those of the docs", async () => {
  const database = await PGlite.create()
  let statements = 0
  const client = new Proxy(database, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      return (...args: unknown[]) => {
        if (name === "query" || name === "exec") statements++
        return Reflect.apply(value, target, args)
      }
    },
  })
  const storage = createPostgresStorage({ client, schema: "costs", durability: "os", pollInterval: 3_600_000 })
  const take = () => {
    const count = statements
    statements = 0
    return count
  }
  expect(await costsOn({ storage, take })).toEqual(documentedCosts("PostgreSQL: statements"))
  await storage[Symbol.asyncDispose]()
  await database.close()
})
