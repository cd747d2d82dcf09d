/** What the parts of one storage object share. */
import type { Bells } from "./browser/notifier.ts"
import type { Connection } from "./database/connection.ts"

export interface Environment {
  readonly durability: "relaxed" | "strict"
  readonly connection: Connection
  readonly bells: Bells
}
