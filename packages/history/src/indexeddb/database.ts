/** The database: its object store. */
import { createConnection, type DatabaseContext, type DBSchema } from "@sessions/idb/database"

export interface Row {
  /** Missing until the database has given one. */
  readonly id?: number
  readonly prompt: string
  /** Unix seconds. */
  readonly at: number
  /** The folder and the id, so that the prompts of a folder are in order. */
  readonly place?: readonly [cwd: string, id: number]
}

export interface Schema extends DBSchema {
  prompts: { key: number; value: Row; indexes: { at: number; place: [string, number] } }
}

export function createDatabase(name: string): DatabaseContext<Schema> {
  const connection = createConnection<Schema>({
    name,
    description: `the prompt history ${name}`,
    instead: "createMemoryHistory",
    stores: ["prompts"],
    upgrades: [
      (db) => {
        const prompts = db.createObjectStore("prompts", { keyPath: "id", autoIncrement: true })
        prompts.createIndex("at", "at")
        prompts.createIndex("place", "place")
      },
    ],
  })
  return { connection, durability: "strict" }
}
