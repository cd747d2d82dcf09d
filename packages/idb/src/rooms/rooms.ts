import { room, type Room } from "@sessions/core/storage"
import type * as Rest from "./rest.ts"

/** What is done to a log or a blob beside appending and reading. Fetched when the database is opened. */
export const rest: Room<typeof Rest> = room(
  "what IndexedDB does beside appending and reading",
  () => import("./rest.ts"),
)
