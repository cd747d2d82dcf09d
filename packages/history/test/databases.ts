/** Databases for tests. */
import { deleteDB } from "idb"
import { onTestFinished } from "vitest"

let made = 0

/** A name for a new database, which is deleted after the test. */
export function newDatabase(): string {
  const name = `test-history-${Date.now().toString(36)}-${made++}`
  onTestFinished(() => deleteDB(name))
  return name
}
