import type { Command } from "./command.ts"
import { compact } from "../commands/compact.ts"
import { context } from "../commands/context.ts"
import { copy } from "../commands/copy.ts"
import { exportCommand } from "../commands/export.ts"
import { fork } from "../commands/fork.ts"
import { importCommand } from "../commands/import.ts"
import { label } from "../commands/label.ts"
import { list } from "../commands/list.ts"
import { migrate } from "../commands/migrate.ts"
import { move } from "../commands/move.ts"
import { rename } from "../commands/rename.ts"
import { resume } from "../commands/resume.ts"
import { rm } from "../commands/rm.ts"
import { show } from "../commands/show.ts"
import { tree } from "../commands/tree.ts"
import { verify } from "../commands/verify.ts"

/** In the order of the overview: the way a session takes through them. */
export const COMMANDS: readonly Command[] = [
  importCommand,
  exportCommand,
  list,
  show,
  context,
  tree,
  compact,
  resume,
  fork,
  rename,
  label,
  move,
  rm,
  copy,
  migrate,
  verify,
]
