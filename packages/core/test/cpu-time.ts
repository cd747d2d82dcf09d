/** CPU time of this process in milliseconds. Unlike elapsed time, it does not depend on other work of the machine. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
