/** The version of the suite, which reports carry; the package's own. */
export const SUITE_VERSION = "0.1.0"
