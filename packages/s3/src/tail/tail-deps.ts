import type { Deps } from "../base/deps.ts"
import type { ConditionalWrites } from "./conditional-writes.ts"
import type { TailCache } from "./tail-cache.ts"

/** Required by everything that writes to a session. */
export interface TailDeps extends Deps {
  readonly tails: TailCache
  readonly conditionalWrites: ConditionalWrites
}
