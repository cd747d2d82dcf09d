import type { Keys } from "./keys.ts"
import type { Settings } from "./settings.ts"
import type { ObjectStore } from "../object-store/object-store.ts"
import type { Time } from "./time.ts"

/** What every part of one storage works with. */
export interface Environment {
  readonly store: ObjectStore
  readonly keys: Keys
  readonly settings: Settings
  readonly time: Time
  /** E.g. `s3:bucket/prefix/`. */
  readonly description: string
}
