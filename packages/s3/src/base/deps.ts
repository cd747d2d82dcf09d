import type { ObjectStore } from "../object-store/object-store.ts"
import type { Keys } from "./keys.ts"
import type { Settings } from "./settings.ts"
import type { Time } from "./time.ts"

/** Shared by all parts of one storage object. */
export interface Deps {
  readonly store: ObjectStore
  readonly keys: Keys
  readonly settings: Settings
  readonly time: Time
  /** E.g. `s3:bucket/prefix/`. */
  readonly description: string
  /** Whether the bucket may keep what is replaced or deleted in it. */
  readonly mayKeepVersions: () => boolean
}
