/** Two repositories on one location, and the helpers that their tests share. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../src/session/repository.ts"
import type { Sessions } from "../src/session/repository-types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"

export function twoRepositories(): {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly elsewhere: Sessions
} {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  return {
    storage,
    sessions: createSessions({ storage }),
    elsewhere: createSessions({ storage: createMemoryStorage({ location }) }),
  }
}
