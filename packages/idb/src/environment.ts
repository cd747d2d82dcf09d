/** What the parts of one storage object share. */
import type { Bells } from "./bells.ts"
import type { Connection } from "./connection.ts"

export interface Environment {
  readonly durability: "relaxed" | "strict"
  readonly connection: Connection
  readonly bells: Bells
}
