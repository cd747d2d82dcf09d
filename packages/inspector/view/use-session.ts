/** The session of a source, as far as it is known. */
import { useEffect, useState } from "preact/hooks"
import type { Opened, Source } from "./source.ts"

export function useSession(source: Source, session: string): Opened {
  const [{ of, opened }, setOpened] = useState<{ of: string; opened: Opened }>({
    of: session,
    opened: source.peek(session),
  })
  useEffect(() => source.open(session, (next) => setOpened({ of: session, opened: next })), [source, session])
  return of === session ? opened : source.peek(session)
}
