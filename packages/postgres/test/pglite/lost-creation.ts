/** Creations whose answer was lost: none is made again after another writer has undone it. */
import { createPostgresStorage, type PostgresConnection } from "@sessions/postgres"
import type { SessionStorage } from "@sessions/core/storage"
import { describe, expect, test } from "vitest"
import { database } from "./database.ts"

let schemas = 0

export function lostCreationTests(): void {
  describe("a creation whose answer was lost", () => {
    test("is found out if it is there", async () => {
      const { storage, lose } = await lossy()
      lose()
      expect(await storage.append("a", ["x"], { expect: 0 })).toMatchObject({ next: 1 })
      lose()
      expect(await storage.docs.put("d", "{}", { expect: null })).toEqual(expect.any(String))
    })

    test("is not made again, with the old identity or another, if the session was deleted since", async () => {
      const { storage, schema, lose } = await lossy()
      lose(`DELETE FROM ${schema}.batch; DELETE FROM ${schema}.session`)
      await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
      expect(await storage.head("a")).toBeUndefined()
    })

    test("is not made again if it is a document that was removed since", async () => {
      const { storage, schema, lose } = await lossy()
      lose(`DELETE FROM ${schema}.doc`)
      await expect(storage.docs.put("d", "{}", { expect: null })).rejects.toMatchObject({ code: "indeterminate" })
      expect(await storage.docs.get("d")).toBeUndefined()
    })

    /** `lose`: the answer to the next write is lost, and another writer's statement follows that write. */
    async function lossy(): Promise<{ storage: SessionStorage; schema: string; lose: (undo?: string) => void }> {
      const schema = `lossy_${schemas++}`
      let armed: { undo: string } | undefined
      const client: PostgresConnection = {
        async query(text, values) {
          const answer = await database.query(text, values)
          if (armed === undefined || !/^(WITH made|INSERT)/.test(text)) return answer
          const { undo } = armed
          armed = undefined
          await database.exec(undo)
          throw new Error("Connection terminated unexpectedly")
        },
      }
      const storage = createPostgresStorage({ client, schema, durability: "os" })
      await storage.head("any")
      return { storage, schema, lose: (undo = "") => void (armed = { undo }) }
    }
  })
}
