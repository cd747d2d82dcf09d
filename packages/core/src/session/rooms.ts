/**
 * What core loads by `import()`, and nowhere else does it. To create, open, append to, read and list sessions that are as they should be
 * takes none of it; what they may need otherwise is fetched beside the first of them. A page that was left behind, offline or by a
 * newer version of itself, may find a room closed: whoever needs it is told, nothing that is stored changes, and the next call tries
 * again.
 */
import { room } from "../storage/room.ts"
import type { Room } from "../storage/room.ts"
import type * as Settings from "../compaction/settings/settings.ts"
import type * as Fit from "../context/fit.ts"
import type * as Pruning from "../context/prune/prune.ts"
import type * as Migrations from "../transfer/older/index.ts"
import type * as Branch from "../compaction/run/branch.ts"
import type * as Compaction from "../compaction/run/run.ts"
import type * as View from "../compaction/run/view.ts"
import type * as Copying from "../transfer/copy.ts"
import type * as Exporting from "../transfer/export.ts"
import type * as Fork from "../transfer/fork.ts"
import type * as Importing from "../transfer/import.ts"
import type * as Migrating from "../transfer/migrate.ts"
import type * as Verifying from "../transfer/verify.ts"
import type * as History from "./rooms-history.ts"
import type * as Rest from "./rooms-rest.ts"

/** What those five do where something is not as it should be, or lies outside of its line. */
export const rest: Room<typeof Rest> = room("what this session needs", () => import("./rooms-rest.ts"))
/** Everything else that is read from a session or a repository. */
export const history: Room<typeof History> = room("reading a history", () => import("./rooms-history.ts"))

export const olderFormats: Room<typeof Migrations> = room(
  "logs of older versions",
  () => import("../transfer/older/index.ts"),
)
export const pruning: Room<typeof Pruning> = room("pruning", () => import("../context/prune/prune.ts"))
export const fit: Room<typeof Fit> = room("telling why a context does not fit", () => import("../context/fit.ts"))
export const compactionSettings: Room<typeof Settings> = room(
  "settings of compaction",
  () => import("../compaction/settings/settings.ts"),
)
export const compactionView: Room<typeof View> = room("pruning as set", () => import("../compaction/run/view.ts"))
export const compaction: Room<typeof Compaction> = room("compaction", () => import("../compaction/run/run.ts"))
export const branchSummaries: Room<typeof Branch> = room(
  "branch summaries",
  () => import("../compaction/run/branch.ts"),
)
export const forking: Room<typeof Fork> = room("fork()", () => import("../transfer/fork.ts"))
export const importing: Room<typeof Importing> = room("import()", () => import("../transfer/import.ts"))
export const exporting: Room<typeof Exporting> = room("export()", () => import("../transfer/export.ts"))
export const copying: Room<typeof Copying> = room("copy()", () => import("../transfer/copy.ts"))
export const migrating: Room<typeof Migrating> = room("migrate()", () => import("../transfer/migrate.ts"))
export const verifying: Room<typeof Verifying> = room("verify()", () => import("../transfer/verify.ts"))
