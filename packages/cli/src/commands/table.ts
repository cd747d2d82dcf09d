import type { Command } from "../command.ts"
import { branch } from "./branch.ts"
import { branches } from "./branches.ts"
import { checkpoints } from "./checkpoints.ts"
import { compact } from "./compact.ts"
import { context } from "./context.ts"
import { copy } from "./copy.ts"
import { discover } from "./discover.ts"
import { doctor } from "./doctor.ts"
import { exportCommand } from "./export.ts"
import { fork } from "./fork.ts"
import { gc } from "./gc.ts"
import { grep } from "./grep.ts"
import { handoff } from "./handoff.ts"
import { history } from "./history.ts"
import { importCommand } from "./import.ts"
import { label } from "./label.ts"
import { list } from "./list.ts"
import { memory } from "./memory.ts"
import { merge } from "./merge.ts"
import { migrate } from "./migrate.ts"
import { move } from "./move.ts"
import { prune } from "./prune.ts"
import { rename } from "./rename.ts"
import { resume } from "./resume.ts"
import { rewind } from "./rewind.ts"
import { rm } from "./rm.ts"
import { serve } from "./serve.ts"
import { show } from "./show.ts"
import { tree } from "./tree.ts"
import { verify } from "./verify.ts"

/** All commands, in the order of the overview. */
export const COMMANDS: readonly Command[] = [
  importCommand,
  exportCommand,
  discover,
  handoff,
  list,
  grep,
  history,
  show,
  serve,
  context,
  tree,
  branches,
  branch,
  checkpoints,
  rewind,
  compact,
  memory,
  resume,
  fork,
  rename,
  label,
  move,
  rm,
  prune,
  gc,
  copy,
  merge,
  migrate,
  verify,
  doctor,
]
