/** How a person calls the program: in a checkout, where the code is not compiled, by its path. */
export const programName = import.meta.filename.endsWith('.js') ? 'kopeck' : 'bin/kopeck';
