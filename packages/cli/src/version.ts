/** The package's; a test holds it against the manifest. */
export const VERSION: string = "0.1.0"
