/** Exit codes of the command (FW-CLI-02). 130 and 143 only ever follow a second signal. */
export const exitCodes = { good: 0, failure: 1, configuration: 2, fault: 3, notFound: 4, interrupted: 130, terminated: 143 } as const;
