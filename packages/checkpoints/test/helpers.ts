/** A session, a folder and their checkpoints, which can be opened again as by another process. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { type Checkpoints, type CheckpointsOptions, createCheckpoints } from "../src/index.ts"
import { createWorkFiles } from "../src/node/index.ts"

export interface Workspace extends Disposable {
  readonly root: string
  sessions: Sessions
  session: Session
  storage: SessionStorage
  checkpoints: Checkpoints
  /** As after the end of the process: everything but the folder and the stored bytes is made anew. */
  restart(): Promise<void>
  /** Appends a user message and returns its id. */
  ask(): Promise<string>
  /** Appends a user message and begins its turn. */
  begin(): Promise<string>
  /** Writes a file as a tool of the agent does. */
  edit(path: string, content: string | Uint8Array): Promise<void>
  read(path: string): string | undefined
  write(path: string, content: string | Uint8Array): void
  remove(path: string): void
  /** The contents of all files, by path, in base64. */
  files(): Record<string, string>
}

export async function createWorkspace(options: Partial<CheckpointsOptions> = {}): Promise<Workspace> {
  const root = fs.mkdtempSync(join(tmpdir(), "sessions-checkpoints-"))
  const location = createMemoryLocation()
  const open = async (id?: string): Promise<Pick<Workspace, "storage" | "sessions" | "session" | "checkpoints">> => {
    const storage = createMemoryStorage({ location })
    const sessions = createSessions({ storage })
    const session = id === undefined ? await sessions.create() : await sessions.open(id)
    const checkpoints = createCheckpoints({ storage, files: createWorkFiles(root), ...options }).of(session)
    return { storage, sessions, session, checkpoints }
  }
  const workspace: Workspace = {
    root,
    ...(await open()),
    async restart() {
      Object.assign(workspace, await open(workspace.session.id))
    },
    async ask() {
      const { ids } = await workspace.session.append({ type: "message", message: { role: "user", content: "go on" } })
      return ids[0] as string
    },
    async begin() {
      const id = await workspace.ask()
      await workspace.checkpoints.begin(id)
      return id
    },
    async edit(path, content) {
      const tool = (): void => workspace.write(path, content)
      await workspace.checkpoints.wrap(tool, () => path)()
    },
    read(path) {
      const at = join(root, path)
      return fs.existsSync(at) ? fs.readFileSync(at, "utf8") : undefined
    },
    write(path, content) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true })
      fs.writeFileSync(join(root, path), content)
    },
    remove(path) {
      fs.rmSync(join(root, path), { force: true })
    },
    files: () => filesBelow(root),
    [Symbol.dispose]: () => fs.rmSync(root, { recursive: true, force: true }),
  }
  return workspace
}

/** The bytes of all files below a folder, in base64, by relative path. Links are not followed. */
export function filesBelow(folder: string): Record<string, string> {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  // Without a prototype: a file may be named `__proto__`.
  const files = Object.create(null) as Record<string, string>
  for (const path of entries.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    files[path.slice(folder.length + 1)] = fs.readFileSync(path).toString("base64")
  }
  return files
}
