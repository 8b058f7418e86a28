import { createContext, use } from 'react';

/** The time zone in which pages show times and read those that are typed: that of the partner in the portal, UTC in the console. */
export const ZoneContext = createContext('UTC');

export const useZone = (): string => use(ZoneContext);
