/** What a killed process left: every file whole, with its backup, and a rewind that completes. */
import { contentsOf, leftBy, note, type Note, notesOf, openWorld } from "./world.ts"

export interface Found {
  readonly withoutBackup: readonly string[]
  readonly halfWritten: readonly string[]
  /** A message that a rewind can go back to. */
  readonly target?: string
}

type Turn = Extract<Note, { note: "turn" }>

/** Opens the place as another process, and goes back to where the killed one began: the turn's message, or the rewind's target. */
export async function look(place: string, pid: number): Promise<Found> {
  const notes = notesOf(place)
  const turns = notes.filter((one): one is Turn => one.note === "turn")
  const world = await openWorld(place, () => undefined)
  try {
    const { checkpoints, folder } = world
    const halfWritten = halfWrittenIn(folder, notes)
    const last = notes.findLast((one) => one.note === "turn" || one.note === "rewind")
    if (last === undefined) return { withoutBackup: [], halfWritten }
    const target = last.note === "turn" ? last.message : last.target
    const turn = turns.find(({ message }) => message === target) as Turn
    const withoutBackup: string[] = []
    if (await checkpoints.canRewind(target)) {
      const { failed, skipped } = await checkpoints.rewind(target)
      withoutBackup.push(...failed.map(({ path, error }) => `${path}: ${error.message}`))
      withoutBackup.push(...skipped.map(({ path, reason }) => `${path}: ${reason}`))
      note(place, { note: "ended" })
      // The repeated rewind writes the file that the killed one was writing.
      if (last.note === "rewind") halfWritten.push(...leftBy(pid, folder))
    } else if (last.note === "rewind" || notes.at(-1)?.note !== "turn") {
      withoutBackup.push(`There is no snapshot of ${target}, which the process had begun`)
    }
    withoutBackup.push(...differences(turn.folder, contentsOf(folder)))
    const kept = await checkpoints.list()
    const other = kept.find(({ reason, messageId }) => reason === "turn" && messageId !== target)
    return { withoutBackup, halfWritten, ...(other !== undefined && { target: other.messageId }) }
  } finally {
    await world.sessions.close()
  }
}

/** Every file has the contents of some write, or those of a turn's start. */
function halfWrittenIn(folder: string, notes: readonly Note[]): string[] {
  const known = new Set(
    notes.flatMap((one) => {
      if (one.note === "write") return one.content === null ? [] : [one.content]
      return one.note === "turn" ? Object.values(one.folder) : []
    }),
  )
  return Object.entries(contentsOf(folder))
    .filter(([, content]) => !known.has(content))
    .map(([path]) => path)
}

/** A whole folder is compared: only the agent edits it, and tracks every file, so nothing else may differ. */
function differences(expected: Readonly<Record<string, string>>, found: Readonly<Record<string, string>>): string[] {
  const paths = new Set([...Object.keys(expected), ...Object.keys(found)])
  return [...paths]
    .filter((path) => expected[path] !== found[path])
    .map((path) => `${path}: ${shown(found[path])} instead of ${shown(expected[path])}`)
}

function shown(content: string | undefined): string {
  return content === undefined ? "no file" : `${JSON.stringify(content.slice(0, 20))} (${content.length})`
}
