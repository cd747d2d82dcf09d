/** What a search must find, by a scan over every line of a storage. Knows messages of one text block, which the histories have. */
import type { SessionStorage } from "@sessions/core/storage"

interface Line {
  readonly type?: string
  readonly id?: string
  readonly targetId?: string
  readonly timestamp?: string
  readonly message?: { readonly role: string; readonly content: readonly { readonly text: string }[] }
}

export interface Wanted {
  readonly text: string
  readonly cwd?: string | undefined
  readonly role?: string | undefined
}

/** `session/entry` of each hit, sorted. */
export async function scan(storage: SessionStorage, { text, cwd, role }: Wanted): Promise<string[]> {
  const prefixes = text.toLowerCase().split(" ")
  const found: string[] = []
  for await (const { id } of storage.list()) {
    const lines: Line[] = []
    for await (const chunk of storage.read(id)) for (const line of chunk.lines) lines.push(JSON.parse(line) as Line)
    if (cwd !== undefined && folderOf(lines) !== cwd) continue
    for (const [seq, line] of lines.entries()) {
      const { type, message, id: entryId } = line
      if (type !== "message" || message === undefined || (role !== undefined && message.role !== role)) continue
      const isHidden = lines.slice(seq).some((later) => hides(later) && later.targetId === entryId)
      const words = (message.content[0]?.text ?? "").toLowerCase().split(/[^a-z0-9]+/)
      if (!isHidden && prefixes.every((prefix) => words.some((word) => word.startsWith(prefix))))
        found.push(`${id}/${entryId}`)
    }
  }
  return found.sort()
}

function hides({ type }: Line): boolean {
  return type === "tombstone" || type === "context_edit"
}

function folderOf(
  lines: readonly (Line & { readonly cwd?: string; readonly key?: string; readonly value?: string })[],
): string | undefined {
  return lines.findLast(({ key }) => key === "cwd")?.value ?? lines[0]?.cwd
}
