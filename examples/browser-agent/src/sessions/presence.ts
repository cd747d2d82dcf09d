/**
 * Shows other tabs which turns are running, by Web Locks, which the browser releases whenever a tab ends. The locks are shared and block
 * nothing; the log itself resolves conflicting appends. Without locks (insecure pages) turns of other tabs are not shown.
 */
const locks: LockManager | undefined = navigator.locks

/** Runs a turn and holds its lock meanwhile. */
export async function withTurnLock<T>(session: string, turn: () => Promise<T>): Promise<T> {
  if (locks === undefined) return turn()
  // Shared, because two tabs may run turns at the same time.
  return await locks.request(nameOf(session), { mode: "shared" }, turn)
}

/** Whether any tab, including this one, runs a turn on the session. */
export async function isTurnRunning(session: string): Promise<boolean> {
  const { held = [] } = (await locks?.query()) ?? {}
  return held.some(({ name }) => name === nameOf(session))
}

const POLL_MS = 300

/** Resolves when no tab runs a turn on the session, or soon after the signal. A request for the lock would block other turns. */
export async function whenTurnsEnd(session: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await isTurnRunning(session))) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function nameOf(session: string): string {
  return `turn:${session}`
}
