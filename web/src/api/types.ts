/** The host's JSON, by the names of its API document. */
import type { components } from '../../types/schema';

type Schemas = components['schemas'];

export type Agent = Schemas['Agent'];
export type AgentForHire = Schemas['AgentForHire'];
export type Approval = Schemas['Approval'];
export type Asset = Schemas['Asset'];
export type Channel = Schemas['Channel'];
export type Cursor = Schemas['Cursor'];
export type Delivery = Schemas['Delivery'];
export type FoundAgent = Schemas['FoundAgent'];
export type Hit = Schemas['Hit'];
export type Job = Schemas['Job'];
export type LogEvent = Schemas['Event'];
export type Member = Schemas['Member'];
export type Message = Schemas['Message'];
export type NewMessage = Schemas['NewMessage'];
export type Part = Schemas['Part'];
export type Pause = Schemas['Pause'];
export type Posted = Schemas['Posted'];
export type Preview = Schemas['Preview'];
export type Color = Schemas['Color'];
export type Screen = Schemas['Screen'];
export type SessionScreen = Schemas['SessionScreen'];
export type Span = Schemas['Span'];
export type Role = Schemas['Role'];
export type Session = Schemas['Session'];
export type Subject = Schemas['Subject'];
export type Thread = Schemas['Thread'];
export type Told = Schemas['Told'];
export type ToldReceipt = Schemas['ToldReceipt'];
export type Wake = Schemas['Wake'];
export type Whoami = Schemas['Whoami'];
export type Why = Schemas['Why'];
