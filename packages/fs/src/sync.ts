/** Making what was acknowledged lasting. */
import { dirname, join } from "node:path"
import type { Environment } from "./environment.ts"
import { syncFile, syncFolder } from "./small-files.ts"

/** The parts, then the names that lead to them. Whoever wrote them: a sync is of the file, not of the descriptor. */
export async function syncSession(env: Environment, session: string): Promise<void> {
  const view = env.view(session)
  if (view === undefined) return
  for (const part of view.parts) await syncFile(env.files, join(view.folder, part.name))
  await syncFolder(env.files, view.folder)
  await syncFolder(env.files, dirname(view.folder))
}
