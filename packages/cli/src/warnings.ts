/** Warnings of the runtime that say nothing to a user of the command. */

/** Node warns until version 25 that `node:sqlite` is experimental. */
const SQLITE = /^SQLite is an experimental feature/

type Emit = (warning: string | Error, ...details: readonly unknown[]) => void

/** Leaves out the warning about SQLite; all others are printed as before. */
export function silenceSqliteWarning(emitter: Pick<NodeJS.Process, "emitWarning">): void {
  const emit = emitter.emitWarning.bind(emitter) as Emit
  const own: Emit = (warning, ...details) => {
    if (typeof warning !== "string" || !SQLITE.test(warning)) emit(warning, ...details)
  }
  emitter.emitWarning = own
}
