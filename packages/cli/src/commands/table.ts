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
import { rename } from "./rename.ts"
import { resume } from "./resume.ts"
import { retention } from "./retention.ts"
import { rewind } from "./rewind.ts"
import { rm } from "./rm.ts"
import { serve } from "./serve.ts"
import { show } from "./show.ts"
import { tree } from "./tree.ts"
import { verify } from "./verify.ts"

/** All commands, in the groups and the order of the overview. */
export const GROUPS: readonly { readonly title: string; readonly commands: readonly Command[] }[] = [
  {
    title: "Look",
    commands: [list, grep, history, show, serve, context, tree, branches, checkpoints],
  },
  { title: "Files of agents", commands: [importCommand, exportCommand, discover, handoff] },
  {
    title: "Change a session",
    commands: [resume, fork, branch, rename, label, move, compact, rewind, memory],
  },
  { title: "Delete", commands: [rm, retention, gc] },
  { title: "Stores", commands: [copy, merge, migrate, verify, doctor] },
]

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands)
