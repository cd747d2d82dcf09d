/** Two repositories on one location, which read logs of older versions, too. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../src/session/repository.ts"
import type { Sessions } from "../src/session/repository-types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { piLogs } from "../src/transfer/migrate/index.ts"

export function twoRepositories(): {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly elsewhere: Sessions
} {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  return {
    storage,
    sessions: createSessions({ storage, readers: [piLogs] }),
    elsewhere: createSessions({ storage: createMemoryStorage({ location }), readers: [piLogs] }),
  }
}
