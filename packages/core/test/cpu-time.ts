/** The types are those of the oldest Node; tests run on the newest. */
const thisProcess = process as unknown as { threadCpuUsage(): { user: number; system: number } }

/**
 * CPU time of this thread in milliseconds. Unlike elapsed time, it does not depend on other work of the machine; unlike the CPU time of the
 * process, not on the test files that Bun runs in its other threads.
 */
export function cpuTime(): number {
  const { user, system } = thisProcess.threadCpuUsage()
  return (user + system) / 1_000
}

/** A difference of two {@link cpuTime}s may be this much too small, or too great: Deno counts in ticks. */
export const CPU_TICK_MS = "Deno" in globalThis ? 10 : 0
