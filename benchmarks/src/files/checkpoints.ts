/**
 * The start of a turn with 1,000 tracked files of which one was edited since, after 100 turns: `begin` on files. The raw loop looks at the
 * same files (`lstat`) and copies the edited one.
 */
import { copyFileSync, lstatSync, mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createCheckpoints } from "@sessions/checkpoints"
import { createWorkFiles } from "@sessions/checkpoints/node"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { withFolder } from "../folder.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"

/** The default number of snapshots, so that each turn evicts one. */
const TURNS = 100
const FILES = 1_000
/** Of a median source file. */
const FILE_BYTES = 4_000
const ROUNDS = 15
const HOUR_MS = 3_600_000

export function checkpointsScenarios(quick: boolean): readonly Scenario[] {
  return [{ id: "checkpoints.begin", run: () => measure(quick ? 5 : TURNS) }]
}

function measure(turns: number): Promise<Result> {
  return withFolder(async (base) => {
    const root = join(base, "project")
    const paths = Array.from({ length: FILES }, (_, i) => join("src", `folder-${i % 40}`, `file-${i}.ts`))
    for (const path of paths) write(join(root, path), "0")
    const storage = createFileStorage({ root: join(base, "sessions") })
    const sessions = createSessions({ storage })
    const session = await sessions.create()
    const checkpoints = createCheckpoints({ storage, files: createWorkFiles(root) }).of(session)
    let turn = 0
    const edited = (): string => paths[(turn * 7) % FILES] as string
    const begin = async (): Promise<number> => {
      const { ids } = await session.append({ type: "message", message: { role: "user", content: "edit" } })
      const time = await milliseconds(() => checkpoints.begin(ids[0] as string))
      // The eviction that follows it runs beside the model's answer.
      await checkpoints.canRewind(ids[0] as string)
      return time
    }
    await begin()
    for (const path of paths) await checkpoints.track(path)
    const ours = (): Promise<number> => {
      write(join(root, edited()), String(++turn))
      return begin()
    }
    while (turn < turns) await ours()
    const raw = (): Promise<number> =>
      milliseconds(() => {
        for (const path of paths) lstatSync(join(root, path))
        copyFileSync(join(root, edited()), join(base, "copy"))
      })
    const times = await inTurns({ ours, raw }, ROUNDS)
    const kept = await checkpoints.list()
    verify(kept[0]?.files.length === 1, "a turn has one edited file")
    await sessions.close()
    return { ...timed("checkpoints.begin", "ms", times), work: { files: FILES, snapshots: kept.length } }
  })
}

/** Written an hour ago, as most files are: a file that is younger than 2 s is read each time. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text.padEnd(FILE_BYTES, "x"))
  const at = new Date(Date.now() - HOUR_MS)
  utimesSync(path, at, at)
}
