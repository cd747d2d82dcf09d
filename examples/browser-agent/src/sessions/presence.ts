/**
 * Which turns are running, told between tabs by locks that nobody waits for: the browser takes them back whenever a tab goes away,
 * however it does. They only tell; what keeps two tabs' appends apart is the log. Without them (an insecure page) nothing is told.
 */
const locks: LockManager | undefined = navigator.locks

/** Runs a turn, and tells other tabs of it meanwhile. */
export async function withTurnTold<T>(session: string, turn: () => Promise<T>): Promise<T> {
  if (locks === undefined) return turn()
  // Shared: two tabs may both have a turn.
  return await locks.request(nameOf(session), { mode: "shared" }, turn)
}

/** Of any tab, this one too. */
export async function hasTurn(session: string): Promise<boolean> {
  const { held = [] } = (await locks?.query()) ?? {}
  return held.some(({ name }) => name === nameOf(session))
}

const LOOKS_EVERY_MS = 300

/** Resolves when no tab has a turn on it, or soon after the signal. Waiting for the lock itself would keep other turns waiting. */
export async function whenTurnsEnd(session: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await hasTurn(session))) {
    await new Promise((resolve) => setTimeout(resolve, LOOKS_EVERY_MS))
  }
}

function nameOf(session: string): string {
  return `turn:${session}`
}
