/** Lists all cases of the suite. */
import type { Case } from "../case/case.ts"
import { append } from "./append.ts"
import { blobs } from "./blobs.ts"
import { cas } from "./cas.ts"
import { create } from "./create.ts"
import { cross } from "./cross.ts"
import { deletes } from "./delete.ts"
import { docs } from "./docs.ts"
import { fault } from "./fault.ts"
import { head } from "./head.ts"
import { limits } from "./limits.ts"
import { list } from "./list.ts"
import { network } from "./network.ts"
import { open } from "./open.ts"
import { readChanges } from "./read-changes.ts"
import { readDamage } from "./read-damage.ts"
import { readRanges } from "./read-ranges.ts"
import { readWindows } from "./read-windows.ts"
import { recover } from "./recover.ts"
import { replace } from "./replace.ts"
import { sync } from "./sync.ts"
import { tails } from "./tails.ts"
import { watch } from "./watch.ts"

/** Every case of the suite. Later cases build on earlier ones, so the first failure is the one to fix first. */
export const cases: readonly Case[] = [
  ...open,
  ...create,
  ...append,
  ...cas,
  ...head,
  ...readRanges,
  ...readWindows,
  ...readChanges,
  ...readDamage,
  ...list,
  ...deletes,
  ...docs,
  ...blobs,
  ...limits,
  ...sync,
  ...tails,
  ...recover,
  ...fault,
  ...watch,
  ...replace,
  ...cross,
  ...network,
]
